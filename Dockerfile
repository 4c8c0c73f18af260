# The hub in a container. Mount a configuration at /etc/toolyard/toolyard.toml and pass the token by environment:
#   docker build -t toolyard .
#   docker run --init -p 8808:8808 -e TOOLYARD_TOKEN=… -v ./toolyard.toml:/etc/toolyard/toolyard.toml:ro toolyard
# Tools in Python or with other needs run in an image made from this one: FROM toolyard, USER root,
# RUN apt-get … python3, USER node.
# The image contains the extras that the build names: `docker build --build-arg EXTRAS="python redis" -t toolyard .`
# The root file system can be read-only: the hub writes to /var/lib/toolyard and /tmp.
# The same image runs the services (`toolyard services`); compose.yaml has one container for each, and
# packaging/hubs/compose.yaml has three hubs behind HAProxy.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages/toolyard/package.json packages/toolyard/
COPY packages/library/package.json packages/library/
COPY packages/gnn/package.json packages/gnn/
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev && rm -r packages/*/src packages/*/test packages/toolyard/build
ARG EXTRAS="redis"
RUN mkdir -p /build/home/data/extras && for extra in $EXTRAS; do \
  TOOLYARD_HOME=/build/home node packages/toolyard/dist/cli/main.js extras add "$extra" --yes || exit 1; done \
  && chmod -R a+rX /build/home

FROM node:24-slim
ENV NODE_ENV=production TOOLYARD_HOME=/var/lib/toolyard TOOLYARD_EXTRAS=/opt/toolyard/extras
WORKDIR /opt/toolyard
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/packages ./packages
COPY --from=build /build/home/data/extras ./extras
RUN mkdir -p /var/lib/toolyard && chown node:node /var/lib/toolyard
# The user `node` by its number, so that an orchestrator can verify that the user is not root.
USER 1000:1000
EXPOSE 8808
# With [server.tls] the port answers plain HTTP with 400, which also shows that the hub runs.
HEALTHCHECK --interval=30s --timeout=3s CMD ["node", "-e", \
  "fetch('http://127.0.0.1:8808/healthz').then((a) => process.exit(a.status < 500 ? 0 : 1), () => process.exit(1))"]
# Inside a container the hub must listen on all interfaces, which it refuses without a token.
ENTRYPOINT ["node", "packages/toolyard/dist/cli/main.js"]
CMD ["serve", "--config", "/etc/toolyard/toolyard.toml", "--host", "0.0.0.0", "--token-env", "TOOLYARD_TOKEN"]
