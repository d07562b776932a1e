"""Listening to a whole load in Firefox: every request of its context, from the browser's parent process."""
