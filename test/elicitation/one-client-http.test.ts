import { describeOneClient } from "./one-client.ts";

describeOneClient({ era: "legacy", door: "HTTP" });
describeOneClient({ era: "legacy", door: "HTTP", isolation: "session" });
describeOneClient({ era: "legacy", door: "HTTP+SSE" });
describeOneClient({ era: "legacy", door: "HTTP", source: "HTTP+SSE" });
