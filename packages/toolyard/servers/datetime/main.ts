#!/usr/bin/env node
import { runService } from "../shared/run.ts";
import { datetime } from "./service.ts";

await runService(datetime);
