"""The keys of the table META, which holds what is known of a collection as a whole.

A new key is added here and nowhere else, so that no name is used twice. Names that end in
PREFIX begin many keys: one row for each name behind them.
"""

from __future__ import annotations

from typing import Final

VERSION_KEY: Final = b"format"  # of the collection
SALT_KEY: Final = b"salt"  # of the URL keys
SETTINGS_KEY: Final = b"settings"  # of the last run, without secrets
SEEDS_KEY: Final = b"seeds"
POINTS_KEY: Final = b"starting points"  # seeds that a search gave, and which
TYPED_KEY: Final = b"typed"  # hosts that the operator named
ORIGINS_KEY: Final = b"typed origins"
TYPED_NAME_PREFIX: Final = b"typed name:"  # whether a typed name was public when first looked up
BANS_KEY: Final = b"bans"
REJUDGE_KEY: Final = b"rejudge"  # the queue was not gone through to its end
FILE_PREFIX: Final = b"file:"  # the byte up to which the state knows a WARC file
LOG_KEY: Final = b"log"  # its length
LOG_SUM_KEY: Final = b"log sum"  # the CRC-32 of so many bytes of it
CLEAN_KEY: Final = b"clean"  # the last run ended in order
IMPORT_PREFIX: Final = b"import:"
PACKAGE_PREFIX: Final = b"package:"  # behind it a SHA-256: a package of the fleet that was merged
SITEMAP_PREFIX: Final = b"sitemap:"
RESCORE_KEY: Final = b"rescore"  # position and hosts of a pass over the queues; no row without one
EPOCH_KEY: Final = b"epoch"  # the highest epoch that wrote; there is no row while it is 0
NUMBER_KEY: Final = b"number"  # of the next entry of a queue
COUNTS_KEY: Final = b"counts"  # the sums over all URLs
CHANGES_KEY: Final = b"changes"  # when the first second visit was, and how many changes there are
CHANGE_PREFIX: Final = b"change:"  # behind it a number: the key of a change, in order of commits
NOISE_PREFIX: Final = b"noise:"  # behind it host key and template: spots that always change
BODY_PREFIX: Final = b"body:"  # behind it a letter and a digest: pages that are gone or new
FRESHNESS_KEY: Final = b"freshness"  # the last figures of a crawl that visits pages again
REVISIT_KEY: Final = b"revisit"  # when a revisit of all pages began, and of which; none at its end
LISTS_KEY: Final = b"lists"  # when sitemaps were read again
NOTIFIED_PREFIX: Final = b"notified:"  # how far a webhook or command is
DUPLICATES_KEY: Final = b"duplicates"  # the mode by which the tables of duplicates were made
YIELD_PREFIX: Final = b"yield:"  # behind it a host key: what a host that wasted requests brought
SITE_YIELD_PREFIX: Final = b"yield-site:"  # behind it the key of a site
TRUST_KEY: Final = b"trust"  # lines of URLs that are no traps, whatever they bring
JUDGED_KEY: Final = b"judged"  # the moment up to which pages were compared with earlier ones
# Of an earlier version, which counted duplicates without a table. They are deleted.
COPIES_PREFIX: Final = b"copies:"
COPIES_KEY: Final = b"copies"
LOG_NEW_KEY: Final = b"log new"  # a shorter log takes the place of the log; no row: none does
REPLACING_KEY: Final = b"replacing"  # archive files that a rewritten one replaces; no row: none
FOCUS_KEY: Final = b"focus"  # the model of a focused crawl (`policies/focus/saving.py`)
FOCUS_PAGES_KEY: Final = b"focus pages"  # keys and relevance of pages that it has judged
FOCUS_FIGURES_KEY: Final = b"focus figures"  # judged and relevant pages of that crawl
PRUNED_KEY: Final = b"pruned"  # how many captures were deleted by the rule, and when
PRUNED_PREFIX: Final = b"pruned:"  # bytes of deleted captures that a WARC file still holds
