"""`resolab fleet`: one campaign over many machines. Not for: the fleet itself (`resolab.fleet`)."""
