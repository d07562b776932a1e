"""Models of pages: what a page is made of without its content, where it came from, what can be said of it."""
