"""What only measurements on the live network are asked for. Not for: what every dataset is asked."""
