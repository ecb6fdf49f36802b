# The container image of an edge: see docs/containers.md.
#
#	docker build -t millrace .
#	podman build --format docker -t millrace .    (OCI's own format has no HEALTHCHECK)
#	docker buildx build --platform linux/amd64,linux/arm64 -t millrace .
#
# The program is built on the machine's own architecture, for that of the image.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH
# The flags are those of a release, so that the program is the same.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags="-s -w" -o /out/usr/bin/millrace ./cmd/millrace
RUN deploy/container/root.sh /out

# Nothing but the program, its configuration, certificate authorities, and a user.
FROM scratch
LABEL org.opencontainers.image.title="Millrace" \
      org.opencontainers.image.description="Publish/subscribe messaging edge made of Caddy modules" \
      org.opencontainers.image.source="https://github.com/millrace/millrace" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build --chown=0:0 /out/etc /etc
COPY --from=build --chown=0:0 /out/usr /usr
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/config /config
ENV PATH=/usr/bin XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
WORKDIR /data
USER 65532:65532
VOLUME ["/data", "/config"]
EXPOSE 80 443 443/udp 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=6s --start-period=30s CMD ["/usr/bin/millrace", "pubsub", "ready"]
ENTRYPOINT ["/usr/bin/millrace"]
CMD ["run", "--config", "/etc/millrace/Caddyfile"]
