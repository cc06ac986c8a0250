//! Proxies between an ACP client and an agent: what passes can be watched, changed and answered, in a chain of them.
