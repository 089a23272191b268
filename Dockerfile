# Three images from one file:
#   docker build --target pod --tag podscale:0.1.0 .             serves: `python -m podscale.pod`
#   docker build --target locust --tag podscale-locust:0.1.0 .   loads: `locust` with podscale's plugin and loadtest/
#   docker build --target sweep --tag podscale-sweep:0.1.0 .     measures: `podscale`, for the chart's Job
# Debian's own Python in a slim base. The environments are made in stages that are thrown away, so that the images
# carry no pip and no compiler, and run with a read-only root (Locust's wants a /tmp that can be written).

FROM debian:trixie-slim AS python
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log

FROM python AS builder
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv
COPY requirements/bootstrap.txt /source/requirements/
RUN python3 -m venv /builder \
    && /builder/bin/pip install --no-cache-dir --require-hashes --requirement /source/requirements/bootstrap.txt \
    && python3 -m venv --without-pip /opt/podscale
WORKDIR /source

FROM builder AS wheel
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY loadtest loadtest
RUN /builder/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .

# pip compiles what it installs. --only-binary: a missing wheel is an error here, not a call for a compiler.
FROM builder AS pod-environment
COPY requirements/pod.txt requirements/
RUN /builder/bin/pip --python /opt/podscale/bin/python install --no-cache-dir --only-binary :all: \
    --require-hashes --requirement requirements/pod.txt
COPY --from=wheel /wheels /wheels
RUN /builder/bin/pip --python /opt/podscale/bin/python install --no-cache-dir --no-index --no-deps /wheels/*.whl

FROM builder AS locust-environment
COPY requirements/load.txt requirements/
RUN /builder/bin/pip --python /opt/podscale/bin/python install --no-cache-dir --only-binary :all: \
    --require-hashes --requirement requirements/load.txt
COPY --from=wheel /wheels /wheels
RUN /builder/bin/pip --python /opt/podscale/bin/python install --no-cache-dir --no-index --no-deps /wheels/*.whl

# Apart from Locust's image, which is a third of its size and runs on every node that sends load.
FROM builder AS sweep-environment
COPY requirements/sweep.txt requirements/
RUN /builder/bin/pip --python /opt/podscale/bin/python install --no-cache-dir --only-binary :all: \
    --require-hashes --requirement requirements/sweep.txt
COPY --from=wheel /wheels /wheels
RUN /builder/bin/pip --python /opt/podscale/bin/python install --no-cache-dir --no-index --no-deps /wheels/*.whl

FROM python AS sweep
COPY --from=sweep-environment /opt/podscale /opt/podscale
ENV PATH=/opt/podscale/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["/opt/podscale/bin/podscale"]

FROM python AS locust
COPY --from=locust-environment /opt/podscale /opt/podscale
COPY loadtest /opt/podscale/loadtest
# `--locustfile` takes paths: -f /opt/podscale/plugin.py,/opt/podscale/loadtest/blocking.py
RUN ln -s "$(/opt/podscale/bin/python -m podscale.load)" /opt/podscale/plugin.py
ENV PATH=/opt/podscale/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 5557 8089
ENTRYPOINT ["/opt/podscale/bin/locust"]

# Last, so that a build without --target makes the image that serves.
FROM python AS pod
COPY --from=pod-environment /opt/podscale /opt/podscale
ENV PATH=/opt/podscale/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# A number: the kubelet cannot tell that a named user is not root.
USER 65532:65532
EXPOSE 8000 9100
ENTRYPOINT ["/opt/podscale/bin/python", "-m", "podscale.pod"]
