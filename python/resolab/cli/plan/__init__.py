"""`resolab plan`: what is done with a plan's file before it is run. Not for: what a plan is (`resolab.plan`)."""
