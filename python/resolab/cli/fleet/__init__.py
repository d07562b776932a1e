"""The command `resolab fleet`: a campaign over many machines. Not for: the fleet itself (`resolab.extras.fleet`)."""
