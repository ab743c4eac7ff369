"""The application: command line, worker process, graph formats and results. It never imports taichi itself."""
