#!/usr/bin/env node
import { runService } from "../shared/run.ts";
import { library } from "./service.ts";

await runService(library);
