"""Commands reading finished datasets: compare, export, merge, har, waterfall, evidence."""
