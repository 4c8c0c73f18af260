#!/usr/bin/env node
import { runService } from "../shared/run.ts";
import { webSearch } from "./service.ts";

await runService(webSearch);
