"""`resolab query`: its arguments, what it prints while it runs and at the end. Not for: asking (`resolab.queries`)."""
