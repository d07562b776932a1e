"""The fidelity of a clone: how closely a browser repeats the page's requests, their discoverers and their order."""
