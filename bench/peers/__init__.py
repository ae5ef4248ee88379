"""Products for the same job that the package index has, beside Agentdesk on this machine."""
