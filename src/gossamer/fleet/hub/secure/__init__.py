"""Who may do what: tokens and codes, certificates, limits, the audit log."""
