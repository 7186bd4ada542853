"""Write the result of an experiment to a file; the extension says how."""
