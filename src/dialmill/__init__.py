"""dialmill: dialogue benchmarks, regenerated; and noisy suites of any dialogue corpus, with the labels still right.

```python
import dialmill as dm

dm.noise("I need a cheap hotel in the north", "typos:rate=0.3", slots={"price": "cheap", "area": "north"}, seed=1)
dialogues = dm.read("data/multiwoz21")
noisy = dm.perturb(dialogues, "typos:rate=0.1", seed=1)
manifest = dm.build("raddle", input="data/multiwoz21", output="out/raddle", seed=1, set={"suites": ["standard", "typos"]})
table = dm.score("raddle", gold="out/raddle", predictions=["a.jsonl", "b.jsonl"])
```

`list_perturbers` and its kin say what there is, the records are those of `dialmill.schemas`. All else below `dialmill.schemas`, `dialmill.perturbers`
and `dialmill.pipelines` can be used as well, and may change from release to release. Importing this loads neither Beam nor any engine.
"""

from dialmill.api import (
    Noised,
    build,
    list_benchmarks,
    list_engines,
    list_exporters,
    list_perturbers,
    list_schemas,
    list_sources,
    noise,
    perturb,
    read,
    score,
)
from dialmill.perturbers.core.contract import OptionError, Perturber
from dialmill.pipelines.core.errors import DialmillError, InputError, RecordError, UsageError
from dialmill.pipelines.core.stage import Reject
from dialmill.pipelines.proxy.users import NoisyUser
from dialmill.schemas import Act, Dialogue, Edit, Goal, Message, SkippedTurn, SlotName, SlotValues, Snippet, Span, Step, Turn
from dialmill.schemas.version import VERSION

__version__ = VERSION

__all__ = [
    "Act",
    "DialmillError",
    "Dialogue",
    "Edit",
    "Goal",
    "InputError",
    "Message",
    "Noised",
    "NoisyUser",
    "OptionError",
    "Perturber",
    "RecordError",
    "Reject",
    "SkippedTurn",
    "SlotName",
    "SlotValues",
    "Snippet",
    "Span",
    "Step",
    "Turn",
    "UsageError",
    "__version__",
    "build",
    "list_benchmarks",
    "list_engines",
    "list_exporters",
    "list_perturbers",
    "list_schemas",
    "list_sources",
    "noise",
    "perturb",
    "read",
    "score",
]
