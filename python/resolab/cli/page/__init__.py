"""The command `resolab page`: the user's own pages, and models of real pages."""
