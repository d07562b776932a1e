"""The fleet's server: nats-server with its authority, folder, configuration, streams and storage quotas."""
