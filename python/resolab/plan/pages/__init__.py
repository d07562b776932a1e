"""The pages of a plan: files, levels of `page`, settings of names, and checks of a plan's names."""
