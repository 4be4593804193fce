"""The journal: the table's facts on disk, chained by hashes, with the frames and command replies made of them.

``store`` writes, ``reader`` reads beside a running writer, ``verify`` checks, ``show`` lists and exports. Only
``database`` opens SQLite files. Facts are bytes here: this package knows no fact's type and imports nothing else
of ``controller``; the table service and the command line may import it.
"""
