# SPDX-License-Identifier: Apache-2.0
# docker build -t vinci .   then   docker run --rm -v "$PWD:/work" vinci run gemm/gemm.yaml
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates
COPY . /src
WORKDIR /src
RUN ./dev package

FROM debian:12
COPY --from=build /src/build/packages/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends clang-19 /tmp/*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["vinci"]
