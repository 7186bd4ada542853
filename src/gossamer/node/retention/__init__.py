"""Delete old captures by the rule `archive.keep`, and keep the number of archive files small."""
