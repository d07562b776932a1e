"""The command line. The only room that prints."""
