"""The command line, the only package printing to the user."""
