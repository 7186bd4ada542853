"""What people see and order: reports, long jobs, files of jobs, the operations of the API."""
