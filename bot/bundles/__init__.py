"""Whatever a person gives as evidence, opened as streams: text on stdin, files, directories and bundles.

Nothing is extracted to disk, and limits are judged while reading, never by what a header claims. Compared with the
standard library's `tarfile` and `zipfile` the readers here are bounded in memory whatever an archive claims, go on
behind damage, and read archives that were cut off.
"""

from bot.bundles._files import input_size
from bot.bundles._limits import Limits
from bot.bundles._paths import open_paths

__all__ = ["Limits", "input_size", "open_paths"]
