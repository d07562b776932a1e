"""HAR files of any maker as recordings: shapes, caches, connections, initiators and sizes."""
