"""The bytes of one picture file -> grey pixels of a wanted size, whatever the file claims to be."""

from __future__ import annotations

import io

import numpy as np

from kcnet_core.errors import DataError
from kcnet_core.limits import MAX_IMAGE_PIXELS, MAX_JPEG_SCANS

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM")
TILE_SIDES = (322, 323)  # tags of a TIFF
START_OF_SCAN = b"\xff\xda"  # of a JPEG; its pixels cannot hold these two bytes


def read_picture(content: bytes, size: tuple[int, int]) -> tuple[np.ndarray, int]:
    """One picture as grey bytes of shape `size`, 0 is black, and how many pixels its file has.

    More than MAX_IMAGE_PIXELS are found out, and refused, before they are decoded.
    """
    from PIL import Image, ImageOps

    try:
        picture = Image.open(io.BytesIO(content), formats=FORMATS)
        n_pixels = picture.width * picture.height
        if n_pixels > MAX_IMAGE_PIXELS:
            raise _too_many_pixels(f"{picture.width:,} × {picture.height:,}")
        _refuse_hidden_work(picture, content)
        picture.draft("L", (2 * size[1], 2 * size[0]))  # JPEG: decode no larger than needed
        picture = _grey(ImageOps.exif_transpose(picture))
        picture = picture.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(picture, dtype=np.uint8), n_pixels
    except DataError:
        raise
    except Image.DecompressionBombError as error:
        raise _too_many_pixels("far too many") from error
    except Exception as error:  # Pillow's decoders raise nearly everything on hostile bytes
        raise DataError(
            f"It is not a picture that can be read ({', '.join(FORMATS)}), or it is damaged."
        ) from error


def _refuse_hidden_work(picture, content: bytes) -> None:
    """What takes more memory or time than width and height tell: tiles larger than their picture,
    and pictures that are drawn over and over."""
    if picture.format == "TIFF":
        width, height = (int(picture.tag_v2.get(tag, 0)) for tag in TILE_SIDES)
        if width * height > MAX_IMAGE_PIXELS:
            raise _too_many_pixels(f"tiles of {width:,} × {height:,}")
    if picture.format == "JPEG" and (n := content.count(START_OF_SCAN)) > MAX_JPEG_SCANS:
        raise DataError(
            f"It is drawn in {n:,} passes; the limit is {MAX_JPEG_SCANS} (MAX_JPEG_SCANS)."
        )


def _too_many_pixels(found: str) -> DataError:
    return DataError(
        f"It has {found} pixels; the limit is {MAX_IMAGE_PIXELS:,} (MAX_IMAGE_PIXELS)."
    )


def _grey(picture):
    """Grey on white paper: transparency shows the paper, and 16 bits become 8."""
    from PIL import Image

    if picture.mode.startswith("I") or picture.mode == "F":
        values = np.asarray(picture, dtype=np.float32)
        top = 65535.0 if values.max() > 255 else 255.0
        return Image.fromarray((np.clip(values, 0, top) * (255 / top)).astype(np.uint8))
    if "A" in picture.mode.upper() or "transparency" in picture.info:
        ink = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", ink.size, "white"), ink)
    return picture.convert("L")
