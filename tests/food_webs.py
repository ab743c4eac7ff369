"""Small food webs for tests."""


def write_web(path, *groups, names=None):
    """Write a web in which each of the groups of species eats a prey of its own; return its path."""
    species = 1 + max(v for group in groups for v in group)
    names = names or [str(v + 1) for v in range(species + len(groups))]
    lines = [f"*Vertices {len(names)}", *(f'{v} "{name}"' for v, name in enumerate(names, start=1)), "*Arcs"]
    lines += [f"{prey} {v + 1} 1" for prey, group in enumerate(groups, start=species + 1) for v in group]
    path.write_text("\n".join(lines) + "\n")
    return path
