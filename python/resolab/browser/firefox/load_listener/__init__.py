"""Listening to a whole load in Firefox: every request of the context, from the browser's parent process."""
