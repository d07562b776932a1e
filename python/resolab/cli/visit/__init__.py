"""`resolab visit`: its arguments, what it prints while it runs and at the end. Not for: loading (`resolab.visit`)."""
