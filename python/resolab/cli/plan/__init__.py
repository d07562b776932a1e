"""The command `resolab plan`: work on a plan's file before its run. Not for: the plan itself (`resolab.plan`)."""
