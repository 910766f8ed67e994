"""Slack's numbers.

Source unless said otherwise: docs.slack.dev/reference/block-kit, and the same numbers in slack_sdk/models/blocks/*.py.
"""

from typing import Final

# Messages
TEXT_SPLIT: Final = 4_000  # characters; Slack posts a longer text as several messages (chainloop#272)
TEXT_MAX: Final = 40_000  # beyond it `msg_too_long` (docs.slack.dev/reference/methods/chat.postMessage)
UPDATE_TEXT_MAX: Final = 4_000  # chat.update refuses what chat.postMessage would split
MESSAGE_BLOCKS: Final = 50
BLOCKS_TEXT_TOTAL: Final = 13_200  # characters of all blocks, `msg_blocks_too_long`, undocumented (bolt-js#2509)
MARKDOWN_TOTAL: Final = 12_000
ATTACHMENTS: Final = 100
METADATA_BYTES: Final = 4_000  # as measured by ChatGPT-in-Slack#17

# Views
VIEW_BLOCKS: Final = 100
VIEW_TITLE: Final = 24
VIEW_BUTTON: Final = 24
PRIVATE_METADATA: Final = 3_000
CALLBACK_ID: Final = 255
EXTERNAL_ID: Final = 255
VIEW_BYTES: Final = 250_000  # `view_too_large`
VIEW_STACK: Final = 3

# Blocks
TEXT_OBJECT: Final = 3_000
SECTION_FIELDS: Final = 10
SECTION_FIELD_TEXT: Final = 2_000
HEADER_TEXT: Final = 150
ACTIONS_ELEMENTS: Final = 25
CONTEXT_ELEMENTS: Final = 10
INPUT_LABEL: Final = 2_000
ID: Final = 255
IMAGE_URL: Final = 3_000
IMAGE_ALT: Final = 2_000
TABLE_ROWS: Final = 100
TABLE_COLUMNS: Final = 20

# Elements
BUTTON_TEXT: Final = 75
BUTTON_VALUE: Final = 2_000
URL: Final = 3_000
PLACEHOLDER: Final = 150
OPTIONS: Final = 100
OPTION_TEXT: Final = 75
OPTION_VALUE: Final = 150
CHECKBOX_OPTIONS: Final = 10
OVERFLOW_OPTIONS: Final = 5
INPUT_VALUE: Final = 3_000
CONFIRM_TITLE: Final = 100
CONFIRM_TEXT: Final = 300
CONFIRM_BUTTON: Final = 30

# Time, in seconds
ACK: Final = 3.0  # docs.slack.dev/tools/bolt-python/concepts/acknowledge
RETRY_AFTER: Final = (0.0, 60.0, 300.0)  # at once, a minute, five minutes later (bolt-python#845)
TRIGGER_LIFE: Final = 3.0
RESPONSE_URL_LIFE: Final = 30 * 60.0
RESPONSE_URL_USES: Final = 5
SOCKETS: Final = 10  # connections an app (node-slack-sdk#1654)

FILE_BYTES: Final = 1_000_000_000  # a file [unverified]
SNIPPET_BYTES: Final = 1_000_000  # `snippet_too_large` [unverified]
