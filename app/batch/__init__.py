"""Many graphs at once: what is asked (`jobs`, `manifest`), the client (`client`) and the engine's side (`runner`)."""
