"""Every chart of the product, as plotly figures that know nothing of the page they appear on.

All functions take `dark` and give a `plotly.graph_objects.Figure`, whose text for those who cannot
see it is `alt(figure)`; what moves while a network trains is in `live` and not drawn by plotly.
Names are loaded when first used: reducing a matrix needs no plotly.
"""

from kcnet_core import lazily

_HOME = {
    "activity": ("activity_ranks", "cell_field"),
    "layout": ("alt",),
    "reduction": ("matrix_png", "nice_limit"),
    "matrices": ("matrix_picture", "matrix_window"),
    "live.film": ("Now", "film_data"),
    "live.charts": ("training_charts",),
    "lambda_curve": ("lambda_path",),
    "pictures": (
        "cell_pictures",
        "contribution_map",
        "image_grid",
        "pixel_map",
    ),
    "ranked": ("signed", "two_sided_bars"),
    "results": (
        "cell_scatter",
        "class_scores",
        "confusion_matrix",
        "contribution_bars",
        "label_scores",
        "output_weights",
        "reliability",
        "timing_bar",
    ),
    "data": ("correlation_matrix", "descriptor_histograms", "label_balance", "usage_bars"),
    "compare": ("metric_vs_hidden", "metric_vs_time", "noise_curves"),
    "costs": ("accuracy_per_byte", "parameters_bar", "time_split"),
    "paper": ("best_so_far", "paper_and_ours", "running_times", "sweep"),
    "sheets": ("image_tiles",),
    "smell": (
        "character_quality",
        "odor_heatmap",
        "odor_profile",
        "odor_profiles",
        "rival_scores",
        "smell_map",
    ),
    "training": ("validation_curve",),
    "verdicts": ("pairwise_matrix", "trials_scatter"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE)

__getattr__, __dir__ = lazily(__name__, _MODULE)
