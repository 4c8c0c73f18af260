# The hub in a container. Mount a configuration at /etc/toolyard/toolyard.toml and pass the token by environment:
#   docker build -t toolyard .
#   docker run --init -p 8808:8808 -e TOOLYARD_TOKEN=… -v ./toolyard.toml:/etc/toolyard/toolyard.toml:ro toolyard
# Tools in Python or with other needs run in an image made from this one: FROM toolyard, USER root,
# RUN apt-get … python3, USER node.
# The image has no extras: `docker run --rm -v VOLUME:/var/lib/toolyard toolyard extras add python --yes` installs one.
# The same image runs the services (`toolyard services`); compose.yaml has one container for each.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages/toolyard/package.json packages/toolyard/
COPY packages/library/package.json packages/library/
COPY packages/gnn/package.json packages/gnn/
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev && rm -r packages/*/src packages/*/test packages/toolyard/build

FROM node:24-slim
ENV NODE_ENV=production TOOLYARD_HOME=/var/lib/toolyard
WORKDIR /opt/toolyard
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/packages ./packages
RUN mkdir -p /var/lib/toolyard && chown node:node /var/lib/toolyard
# The user `node` by its number: whoever starts containers sees by it that this is not root.
USER 1000:1000
EXPOSE 8808
# With [server.tls] the port answers plain HTTP with a 400, which is a sign of life too.
HEALTHCHECK --interval=30s --timeout=3s CMD ["node", "-e", \
  "fetch('http://127.0.0.1:8808/healthz').then((a) => process.exit(a.status < 500 ? 0 : 1), () => process.exit(1))"]
# Inside a container the door must listen on all interfaces, which the hub refuses without a token.
ENTRYPOINT ["node", "packages/toolyard/dist/cli/main.js"]
CMD ["serve", "--config", "/etc/toolyard/toolyard.toml", "--host", "0.0.0.0", "--token-env", "TOOLYARD_TOKEN"]
