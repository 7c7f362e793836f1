# KCNet Lab in a container: a small base, a user without rights, nothing written but to the volume.
#   docker build -t kcnet-lab .
#   docker run --read-only --tmpfs /tmp -v kcnet-cache:/cache -p 8501:8501 kcnet-lab
# pip's ordinary torch for Linux brings gigabytes for graphics cards. PyTorch's installation page
# names an index with builds for processors; give it, and the image is several gigabytes smaller:
#   docker build --build-arg TORCH_INDEX=... -t kcnet-lab .
FROM python:3.11-slim AS base
COPY packages.txt /tmp/packages.txt
RUN apt-get update \
    && xargs -a /tmp/packages.txt apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/* /tmp/packages.txt
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

FROM base AS app
WORKDIR /app
COPY requirements.txt .
ARG TORCH_INDEX=""
RUN if [ -n "$TORCH_INDEX" ]; then \
        grep -E '^torch(vision)?==' requirements.txt > /tmp/torch.txt \
        && pip install --index-url "$TORCH_INDEX" -r /tmp/torch.txt && rm /tmp/torch.txt; \
    fi \
    && pip install -r requirements.txt
COPY app.py README.md LICENSE CITATION.cff ./
COPY .streamlit .streamlit
COPY assets assets
COPY kcnet_core kcnet_core
COPY pages pages
RUN python -m compileall -q app.py kcnet_core pages \
    && useradd --uid 1000 --create-home kcnet && mkdir /cache && chown kcnet /cache
USER 1000
# Two arenas: with more, C's library keeps what threads have freed.
ENV KCNET_CACHE=/cache MALLOC_ARENA_MAX=2
VOLUME /cache
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", \
    "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ.get(\"STREAMLIT_SERVER_PORT\", 8501)}/healthz', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0"]
