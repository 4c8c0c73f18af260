/** Returns a configuration of HAProxy that sends requests to these ports in turn, without affinity. */
export function haproxyConfig(port, hubs) {
  return `
defaults
  mode http
  timeout connect 2s
  timeout check 5s
  timeout client 1h
  timeout server 1h
  option redispatch 1
  option abortonclose
  retries 3
  retry-on conn-failure
frontend hubs
  bind 127.0.0.1:${port}
  default_backend hubs
backend hubs
  balance roundrobin
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
  default-server inter 500ms fall 2 rise 1
${hubs.map((hub, at) => `  server hub${at} 127.0.0.1:${hub} check`).join("\n")}
`;
}
