"""What a visitor takes home from a run: a report as JSON and CSV, and a script that repeats it."""

from __future__ import annotations

import csv
import io
import json
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version

from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import TrainedRun
from kcnet_core.network.retina import is_retina
from kcnet_core.network.scaling import ODOR_CLIP
from kcnet_core.network.wiring import PLANS

PACKAGES = ("numpy", "scikit-learn", "torch", "rdkit")
EPOCH_COLUMNS = (
    "submodel", "epoch", "train_metric", "validation_metric",
    "flips_on", "flips_off", "density", "seconds",
)  # fmt: skip


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def run_report(trained: TrainedRun) -> dict:
    """Everything needed to cite the run: data, protocol, settings, scores, cost, versions."""
    dataset = trained.dataset
    return {
        "title": trained.run.describe(),
        "dataset": {
            "title": dataset.title,
            "citation": dataset.citation,
            "licence": dataset.licence,
            "rows": len(dataset.X),
            "inputs": len(trained.feature_names),
            "targets": list(dataset.target_names),
            "loader_report": list(dataset.report),
        },
        **_wiring_source(trained.run),
        "protocol": {
            "name": trained.protocol,
            "explanation": PROTOCOLS[trained.protocol].explanation,
            "training_rows": len(trained.train_rows),
            "test_rows": len(trained.test_rows),
            "splits": 1,
        },
        "run": asdict(trained.run),
        "scores": trained.scores,
        "seconds": trained.timings,
        "trained_parameters": trained.model.n_trained_parameters_,
        "notes": list(trained.notes),
        "versions": versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "epochs": [
            {name: getattr(record, name) for name in EPOCH_COLUMNS} for record in trained.records
        ],
    }


def _wiring_source(run: Run) -> dict[str, dict[str, str]]:
    """Whose work the wiring is, where it was not drawn by lot."""
    if not (run.uses("wiring") and PLANS[run.wiring].needs_glomeruli):
        return {}
    return {"wiring": {"plan": PLANS[run.wiring].about, **CATALOGUE["hemibrain"].about}}


def report_json(trained: TrainedRun) -> str:
    return json.dumps(run_report(trained), indent=2, default=float)


def report_csv(trained: TrainedRun) -> str:
    """One line per epoch and submodel."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(EPOCH_COLUMNS)
    for record in trained.records:
        writer.writerow([getattr(record, name) for name in EPOCH_COLUMNS])
    return out.getvalue()


def save(trained: TrainedRun, target) -> None:
    """Save the trained model with all that is needed to use it elsewhere, to a path or file."""
    from kcnet_core.model_file import save_model

    dataset = trained.dataset
    info = run_report(trained)
    info.pop("epochs")  # the model's own history has them
    if dataset.image_shape is not None:  # so that `predict` can take pixels as they come
        info["pixels"] = {"mean": dataset.pixel_mean, "std": dataset.pixel_std}
        if dataset.softened:
            info["pixels"]["softened"] = dataset.image_shape
    save_model(
        target,
        trained.model,
        scaler=trained.scaler,
        feature_names=dataset.feature_names,
        target_names=dataset.target_names,
        info=info,
    )


def model_file(trained: TrainedRun) -> bytes:
    """The content of a saved model, for a download."""
    out = io.BytesIO()
    save(trained, out)
    return out.getvalue()


SCRIPT = '''\
"""Repeats a run of KCNet Lab. Run it where the package kcnet_core can be imported."""

from kcnet_core import datasets, {estimator}
from kcnet_core.experiments import metrics, protocols
{imports}
dataset = datasets.load({dataset!r}{options})
(split,) = protocols.splits(dataset, {protocol!r}, seed={seed}, rows={rows})
train, test = split.train, split.test
X_train, X_test = dataset.X[train], dataset.X[test]
{scale}
model = {estimator}(
{parameters}
)
model.fit(X_train, dataset.y[train]{groups})
scores = metrics.all_scores(dataset.y[test], model.predict(X_test), model.predict_proba(X_test))
print({title!r})
for name, value in scores.items():
    print(f"  test {{name}}: {{value:.4f}}")
'''


def repeat_script(trained: TrainedRun) -> str:
    """A short Python script that repeats the run with `kcnet_core` alone."""
    run = trained.run
    retina = is_retina(trained.scaler)
    scaled = trained.scaler is not None and not retina
    parameters = run.estimator_parameters()
    imports = ["from kcnet_core.network.scaling import FeatureScaler"] if scaled else []
    kind = type(trained.scaler).__name__
    imports += [f"from kcnet_core.network.retina import {kind}"] if retina else []
    lines = [f"    {name}={value!r}," for name, value in parameters.items()]
    plan = PLANS[parameters.get("wiring", "random")]
    if plan.needs_image:
        lines.append(f"    image_shape={trained.dataset.image_shape!r},")
    if plan.needs_glomeruli:
        imports.insert(0, "from kcnet_core.datasets.fly.connectome import synapses_for")
        names = "scaler.get_feature_names_out(dataset.feature_names)"
        lines.append(f"    connectome=synapses_for({names}),")
    return SCRIPT.format(
        title=run.describe(),
        estimator=run.estimator_name,
        imports="".join(f"{line}\n" for line in sorted(imports)),
        dataset=run.dataset,
        options="".join(f", {name}={value!r}" for name, value in run.data_options().items()),
        protocol=trained.protocol,
        seed=run.seed,
        rows=run.rows,
        scale=(
            f"scaler = FeatureScaler(clip={ODOR_CLIP}).fit(X_train)\n"
            "X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)\n"
            if scaled
            else f"retina = {trained.scaler!r}.fit(X_train)\n"
            "X_train, X_test = retina.transform(X_train), retina.transform(X_test)\n"
            if retina
            else ""
        ),
        parameters="\n".join(lines),
        groups=", groups=dataset.groups[train]" if trained.dataset.groups is not None else "",
    )
