"""One search, or many calls, on the workers of a Dask cluster.

The driver (`driver`) keeps the waiting work (`batch_work`, `pool`), leases it out (`leases`) to workers
(`on_worker` runs there) through one door to Dask (`workers`), and takes their answers. `connect` reaches a cluster; the
workers of a local one are forked by a process of their own (`local`, `nursery`, `local_worker`), and listen behind
certificates of the run (`servers`). `spread` calls a function on whatever worker is free; batches use it.

A lease counts when its answer is taken, never before: keep to that in every change.
"""
