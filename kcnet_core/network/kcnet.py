"""KCNet: sparse random wiring, global inhibition, ridge output weights, and DOA on the wiring."""

from __future__ import annotations

from kcnet_core.network.circuit import KCNetCircuit
from kcnet_core.network.classification import RidgeClassifier


class KCNetClassifier(RidgeClassifier, KCNetCircuit):
    """A fruit fly's olfactory circuit as a classifier (Hong & Pavlic 2021).

    Each of `n_hidden` Kenyon cells sums `fan_in` randomly chosen inputs; the mean over all cells is
    subtracted (global inhibition), ReLU leaves a sparse code, and ridge regression reads it out.
    With `n_epochs` > 0 the wiring itself is improved by DOA; with `n_submodels` > 1 several small
    networks are improved independently, their wiring concatenated and the output weights refitted
    (Ensemble DOA). There is no intercept, as in the paper.

    Parameters
    ----------
    n_hidden : int, default=2000
        Kenyon cells B, over all submodels together.
    fan_in : int, default=7
        Inputs per cell; must be below the number of inputs, and is lowered with a warning if not.
    inhibition : float, default=1.0
        Strength C of global inhibition.
    alpha : float or "loo", default=1.0
        Ridge regularisation lambda, added to sums over rows; "loo" takes the lambda with the
        smallest leave-one-out error.
    n_epochs : int, default=0
        Updates of the wiring by DOA; 0 keeps the random wiring (plain KCNet).
    n_submodels : int, default=1
        More than one: Ensemble DOA.
    doa_rule : {"varpro", "paper"}, default="varpro"
        "paper" is Algorithm 1; "varpro" the exact gradient of the ridge loss (see
        `kcnet_core.network.doa`).
    learning_rate : float, optional
        None takes the rule's default.
    stop_metric : float, optional
        DOA ends as soon as the validation metric reaches it.
    validation_fraction : float, default=1/6
        Share of rows (or of groups) that DOA holds out. After DOA the output weights are fitted to
        all rows.
    batch_rows : int, optional
        Rows per epoch for "varpro"; None chooses by B and N.
    gradient_rows : {"auto", "batch", "held_out"}, default="auto"
        Where "varpro" takes its gradient: on the rows that beta was fitted to, or on others.
        "auto" holds rows out when there are few and leave-one-out explains little of them (see
        `kcnet_core.network.doa_settings`); `doa_notes_` says which was used.
    gradient_mask : {"used_inputs", "connected", "field", "none"}, optional
        Scores that may move: of inputs that some cell uses (the published code), of existing
        connections (the paper's text; W can then only lose ones), of inputs in the cell's field or
        one pixel around it, or all. None takes "field" for local wiring, and otherwise the rule's
        default: "used_inputs" for "paper", "none" for "varpro".
    stop_rule : {"algorithm1", "published"}, default="algorithm1"
        Measure the stop metric before the update with output weights fitted to that wiring, or, to
        reproduce the published code, after the update with the old output weights.
    restore_best : bool, default=True
        Keep the wiring of the epoch with the best validation metric instead of the last one.
    fan_in_penalty : float, default=0.0
        Pull towards `fan_in_target` inputs per cell; 1 means that at twice the target the pull is
        as large as a typical entry of the gradient.
    fan_in_target : int, optional
        None takes `fan_in`.
    keep_fan_in : bool, default=False
        Every cell keeps exactly as many inputs as it began with; DOA only chooses which.
    wiring : {"random", "local", "hemibrain", "hemibrain-shuffled", "hemibrain-random"}
        Plan by which inputs are drawn: from anywhere, as in the paper (the default), inside a
        rectangle of the image for each cell, or as in a real fly (`fan_in` then means nothing).
    image_shape : (height, width) or (height, width, channels), optional
        How local wiring lays out the inputs: row by row, the channels of a pixel last. None takes
        a square, or a square with three channels.
    min_field, max_field : int, default=5, 16
        Each side of a rectangle is drawn evenly between these, in pixels.
    local_share : float, default=1.0
        Share of cells with a rectangle; the others draw from the whole image.
    connectome : ndarray of shape (cells, d), optional
        Synapses of a real fly's cells with each input (`kcnet_core.datasets.fly.connectome`).
    min_synapses, synapse_counts : int, bool, default=3, False
        Synapses that make a connection; whether it counts by them (W then holds their numbers).
    metric : {"accuracy", "weighted_f1", "auroc"}, optional
        Measured on validation rows and by leave-one-out. None: accuracy for three or more classes
        and weighted F1 for two, as in the paper; mean AUROC for multi-label data.
    n_jobs : int, optional
        Submodels that `fit` searches at the same time, each in a process of its own; None means
        as many as there are cores, in threads that share the rows.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
    random_state : int, RandomState, Generator or None
        Wiring, scores, splits and batches all follow from it.

    Attributes
    ----------
    weights_ : ndarray of shape (B, d), uint8
        The wiring W, built on demand.
    wiring_ : Wiring
        The same as indices.
    fields_ : ndarray of shape (B, 4) or None
        The rectangle of each cell: top, left, and bottom and right just outside of it.
    scores_ : ndarray of shape (B, d) or None
        Preference scores S after DOA.
    coef_ : ndarray of shape (B, c)
        Output weights beta; one column per class, also when there are two, or per label.
    classes_ : ndarray
    target_code_ : TargetCode
        How classes or labels stand for columns of `coef_`.
    device_, dtype_ : torch.device, torch.dtype
        Where and in which precision activities are computed.
    alpha_ : float
        Lambda used.
    history_ : list of EpochRecord
    stopped_, doa_notes_ : str
        Why DOA ended, and what its automatic settings came to.
    timings_ : dict of str to float
        Seconds for wiring, doa, gram, solve and calibrate.
    loo_error_, loo_score_ : float
        Leave-one-out mean squared error and metric of the training rows (a sample of them when
        there are many).
    inhibition_, metric_ : float, str
    n_trained_parameters_ : int
        Output weights, plus preference scores when DOA trained the wiring.
    calibration_ : Calibration
    n_features_in_ : int

    References
    ----------
    Hong, J. & Pavlic, T. P. (2021). KCNet: An Insect-Inspired Single-Hidden-Layer Neural Network
    with Randomized Binary Weights for Prediction and Classification Tasks. arXiv:2108.07554.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kcnet_core import KCNetClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> net = KCNetClassifier(n_hidden=500, random_state=0).fit(X[:1200] / 16, y[:1200])
    >>> bool(net.score(X[1200:] / 16, y[1200:]) > 0.9)
    True
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn asks for 0.83 on blobs in a plane. With two inputs the fan-in can only be
        # one, and full inhibition then cancels all but the difference of the two inputs.
        tags.classifier_tags.poor_score = True
        return tags
