"""Models of pages: a page's structure without content, the model's origin, and facts about the page."""
