"""Every limit of the product in one place; each refusal names the limit it met."""

import os

MEGABYTE = 2**20
# For machines with less than a gigabyte: one run and one molecule process at a time, less is kept.
LOW_MEMORY = os.environ.get("KCNET_LOW_MEMORY", "") not in ("", "0")

# Uploads
MAX_UPLOAD_BYTES = 50 * MEGABYTE  # also server.maxUploadSize in .streamlit/config.toml
MAX_HELD_UPLOAD_BYTES = 1024 * MEGABYTE  # inputs of all visitors' uploads together
MAX_CSV_ROWS = 20_000
MAX_CSV_COLUMNS = 500
MAX_CSV_LINE = 1_000_000  # characters; csv cuts up a whole line before anything else may run
MAX_CSV_LINES = 250_000  # blank ones and those inside cells too
MAX_CSV_CELLS = 3_000_000  # rows times columns, blank ones too
MAX_CSV_CHARACTERS = 200  # distinct labels or classes in one table
MAX_CSV_DILUTIONS = 20  # distinct dilutions, one input each
MAX_PASTED_CHARACTERS = 500_000
MAX_ZIP_ENTRIES = 100_000
MAX_UNZIPPED_BYTES = 500 * MEGABYTE
MAX_ZIP_RATIO = 200  # unpacked to packed bytes of a whole archive
MAX_IMAGE_PIXELS = 4_000_000  # of one uploaded picture
MAX_JPEG_SCANS = 200  # of one: each goes over the whole picture again, and may have a few bytes
MAX_UPLOAD_PIXELS = 1_000_000_000  # of all uploaded pictures together, before they are resized
MAX_IMAGES = 70_000
MAX_IMAGE_SIDE = 64  # pixels of a side after resizing
MAX_IMAGE_VALUES = 100_000_000  # images times pixels after resizing
MAX_IMAGE_CLASSES = 500
MAX_MODEL_FILE_BYTES = 400 * MEGABYTE
MAX_MODEL_HEADER_BYTES = 8 * MEGABYTE  # names, settings and info of a model file
MAX_MODEL_HEADER_BRACKETS = 400_000  # that open in it: a list or table takes up to 230 bytes each
MAX_DOWNLOAD_BYTES = 1_000 * MEGABYTE
MAX_LESSON_BYTES = 50_000  # a lesson's text file

# Molecules
MAX_SMILES_LENGTH = 1_000
MAX_HEAVY_ATOMS = 150
MAX_MOLECULES = 20_000
SECONDS_PER_MOLECULE = 5.0
MAX_KILLED_MOLECULES = 10  # hung or crashed in one request; then the rest is not computed
MAX_MOLECULE_NAME_LENGTH = 200
SMELLED_AT_ONCE = 40  # lines answered in the page itself, or in one API request; more are queued
SMELLED_CHARACTERS_AT_ONCE = 4_000  # of these lines; long molecules cost most
EXPLAINED_ATOMS_AT_ONCE = 30  # of one molecule, each taken out once; larger ones are queued
WORKER_MEMORY_BYTES = 2048 * MEGABYTE  # address space of one RDKit process

# Models
MAX_HIDDEN = 20_000
MAX_EPOCHS = 1_000
MAX_SUBMODELS = 50
MAX_INPUTS = 100_000  # columns of X in a saved model
MAX_TARGETS = 5_000  # classes or labels
MAX_CONNECTIONS = 40_000_000  # cells times inputs in a saved model

# Experiments
MAX_TRIALS = 200  # settings tried in one search
MAX_REPEATS = 100
MAX_HIDDEN_SIZES = 20
MAX_COMPARED_FITS = 5_000  # models x sizes x repeats x folds of one comparison
MAX_BASELINE_ROWS = 20_000  # training rows; a support vector machine takes hours beyond

# Jobs
MAX_RUNNING_JOBS = 1 if LOW_MEMORY else 2
MAX_QUEUED_JOBS = 24
MAX_PAUSED_JOBS = 24  # beyond, the longest pause of whoever has the most ends by itself
MAX_JOBS_PER_OWNER = 4
MAX_STORED_EPOCHS = 40  # matrices kept for replay, per job
FINISHED_JOB_SECONDS = 2 * 3600
MAX_FINISHED_JOBS = 6 if LOW_MEMORY else 24  # kept for their owners, oldest go first
MAX_PAUSED_SECONDS = 30 * 60  # a paused job holds memory; then it goes on by itself
UNWATCHED_PAUSE_SECONDS = 10 * 60  # after its last viewer has left, a run rests
UNWATCHED_END_SECONDS = 60 * 60  # and then ends
KEPT_RUNNING_SECONDS = 12 * 3600  # for which its owner may keep it from both
LONG_RUN_SECONDS = 2 * 3600  # estimated; a longer one asks before it starts
MAX_SLOW_SECONDS = 5.0  # rest after each step in slow motion, which keeps its slot
MEMORY_SHARE = 0.6  # of the machine's available memory that one job may plan to use
# Arrays of all finished jobs together; the oldest are lightened.
MAX_FINISHED_BYTES = (32 if LOW_MEMORY else 2048) * MEGABYTE
UNWATCHED_LIGHTEN_SECONDS = 5 * 60  # after which a finished run keeps only what is costly to redo
MAX_JOURNAL_BYTES = MEGABYTE // 4  # of one server's journal of jobs
MAX_JOURNALS = 20  # of servers that ended
JOURNAL_SECONDS = 7 * 24 * 3600  # for which a journal of a server that ended is kept

# The API
API_REQUESTS_PER_MINUTE = 60  # of one client
API_BURST = 20  # of these that may come at once
API_CLIENTS_REMEMBERED = 10_000
MAX_API_AT_ONCE = 2  # requests that compute; a third is asked to come again
MAX_API_BYTES = 2 * MAX_UPLOAD_BYTES  # of one request: a model and rows for it
MAX_API_JSON_BYTES = 4 * MEGABYTE  # of a question: in memory its lists are twenty times as large
MAX_API_COMING = 8  # requests whose bodies are on their way, on disk; two of one client
API_BODY_SECONDS = 120  # in which a request has come whole

# What browsers send to the pages
MAX_HELD_FILES = 4  # of one session, before the page has read them
MAX_HELD_FILE_BYTES = (100 if LOW_MEMORY else 1024) * MEGABYTE  # of all sessions
UPLOAD_SECONDS = 600  # in which a file has come whole
MAX_MESSAGE_BYTES = 8 * MEGABYTE  # of one message: all controls of a page, and pasted text
