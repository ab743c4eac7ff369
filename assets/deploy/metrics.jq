# The events of a run as metrics for the textfile collector of Prometheus' node exporter:
#   jq -rsf assets/deploy/metrics.jq week/events.jsonl > /var/lib/node_exporter/chordless.prom.new &&
#   mv /var/lib/node_exporter/chordless.prom.new /var/lib/node_exporter/chordless.prom
def metric($name; $help; $value):
  "# HELP chordless_\($name) \($help)", "# TYPE chordless_\($name) gauge", "chordless_\($name) \($value)";

(map(select(.event == "progress" or .event == "finished")) | last) as $last
| if $last == null then empty else
    metric("share"; "Share of the search that is done, 0 to 1."; $last.share),
    metric("cycles"; "Chordless cycles found."; $last.cycles),
    metric("paths"; "Paths expanded."; $last.paths),
    metric("search_seconds"; "Time spent searching."; $last.seconds // $last.enumerate_seconds),
    metric("memory_bytes"; "Resident memory of the engine."; $last.memory_bytes // $last.peak_memory_bytes),
    metric("finished"; "1 when the run has ended."; if $last.event == "finished" then 1 else 0 end)
  end
