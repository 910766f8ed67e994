"""Whatever a person gives as evidence, opened as streams: text on stdin, files, directories and bundles.

Nothing is extracted to disk, and limits are judged while reading, never by what a header claims. Compared with the
standard library's `tarfile` and `zipfile` the readers here are bounded in memory whatever an archive claims, go on
behind damage, and read archives that were cut off.
"""

from bot.bundles._archives import Unpacker
from bot.bundles._files import input_size
from bot.bundles._kinds import SNIFF, is_zip
from bot.bundles._limits import Limits, Unread, size_text
from bot.bundles._names import display_name
from bot.bundles._paths import open_paths
from bot.bundles._streams import UNIT, Stream, part_of

__all__ = [
    "SNIFF",
    "UNIT",
    "Limits",
    "Stream",
    "Unpacker",
    "Unread",
    "display_name",
    "input_size",
    "is_zip",
    "open_paths",
    "part_of",
    "size_text",
]
