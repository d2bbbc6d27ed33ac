// Original file: agent.proto
import type { INamespace } from 'protobufjs/light.js';

// The library's type asks for comments that its own output does not have.
export const DESCRIPTION = {
  "nested": {
    "svc": {
      "nested": {
        "agent": {
          "nested": {
            "v1": {
              "nested": {
                "Agent": {
                  "methods": {
                    "Exchange": {
                      "requestType": "ExchangeRequest",
                      "responseType": "ExchangeReply"
                    },
                    "Join": {
                      "requestType": "JoinRequest",
                      "responseType": "JoinReply"
                    },
                    "Work": {
                      "requestType": "WorkRequest",
                      "responseType": "Order",
                      "responseStream": true
                    },
                    "Start": {
                      "requestType": "StartRequest",
                      "responseType": "StartReply"
                    },
                    "Heartbeat": {
                      "requestType": "HeartbeatRequest",
                      "responseType": "HeartbeatReply"
                    },
                    "AppendLog": {
                      "requestType": "AppendLogRequest",
                      "responseType": "AppendLogReply"
                    },
                    "Finish": {
                      "requestType": "FinishRequest",
                      "responseType": "FinishReply"
                    },
                    "Call": {
                      "requestType": "CallRequest",
                      "responseType": "CallReply"
                    },
                    "GetVersion": {
                      "requestType": "GetVersionRequest",
                      "responseType": "Version"
                    }
                  }
                },
                "ExchangeRequest": {
                  "fields": {}
                },
                "ExchangeReply": {
                  "fields": {
                    "token": {
                      "type": "string",
                      "id": 1
                    },
                    "version_key": {
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "JoinRequest": {
                  "fields": {
                    "hostname": {
                      "type": "string",
                      "id": 1
                    },
                    "version": {
                      "type": "string",
                      "id": 2
                    },
                    "name": {
                      "type": "string",
                      "id": 3
                    },
                    "queues": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 4
                    },
                    "slots": {
                      "type": "int32",
                      "id": 5
                    }
                  }
                },
                "JoinReply": {
                  "fields": {
                    "token": {
                      "type": "string",
                      "id": 1
                    },
                    "worker_id": {
                      "type": "string",
                      "id": 2
                    },
                    "queues": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "WorkRequest": {
                  "fields": {
                    "hostname": {
                      "type": "string",
                      "id": 1
                    },
                    "pid": {
                      "type": "int32",
                      "id": 2
                    },
                    "version": {
                      "type": "string",
                      "id": 3
                    },
                    "running_tokens": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 7
                    }
                  }
                },
                "Order": {
                  "oneofs": {
                    "order": {
                      "oneof": [
                        "assignment",
                        "cancel",
                        "credential",
                        "drain"
                      ]
                    }
                  },
                  "fields": {
                    "assignment": {
                      "type": "Assignment",
                      "id": 1
                    },
                    "cancel": {
                      "type": "Cancel",
                      "id": 2
                    },
                    "credential": {
                      "type": "WorkerCredential",
                      "id": 3
                    },
                    "drain": {
                      "type": "Drain",
                      "id": 4
                    }
                  }
                },
                "Assignment": {
                  "fields": {
                    "attempt_id": {
                      "type": "string",
                      "id": 1
                    },
                    "token": {
                      "type": "string",
                      "id": 2
                    },
                    "version_key": {
                      "type": "string",
                      "id": 3
                    },
                    "dag_id": {
                      "type": "string",
                      "id": 4
                    },
                    "task_id": {
                      "type": "string",
                      "id": 5
                    },
                    "map_index": {
                      "type": "int32",
                      "id": 6
                    },
                    "try_number": {
                      "type": "int32",
                      "id": 7
                    }
                  }
                },
                "Cancel": {
                  "fields": {
                    "attempt_ids": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 1
                    },
                    "reason": {
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "Drain": {
                  "fields": {
                    "reason": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "WorkerCredential": {
                  "fields": {
                    "token": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "StartRequest": {
                  "fields": {
                    "hostname": {
                      "type": "string",
                      "id": 1
                    },
                    "pid": {
                      "type": "int32",
                      "id": 2
                    },
                    "known_secrets": {
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "StartReply": {
                  "oneofs": {
                    "answer": {
                      "oneof": [
                        "started",
                        "stop"
                      ]
                    }
                  },
                  "fields": {
                    "started": {
                      "type": "Started",
                      "id": 1
                    },
                    "stop": {
                      "type": "Stop",
                      "id": 2
                    }
                  }
                },
                "Started": {
                  "fields": {
                    "job_json": {
                      "type": "string",
                      "id": 1
                    },
                    "log_offset": {
                      "type": "int64",
                      "id": 2
                    },
                    "lease_ms": {
                      "type": "int64",
                      "id": 3
                    },
                    "secrets": {
                      "type": "Secrets",
                      "id": 4
                    }
                  }
                },
                "Secrets": {
                  "fields": {
                    "id": {
                      "type": "string",
                      "id": 1
                    },
                    "base_id": {
                      "type": "string",
                      "id": 2
                    },
                    "changes_json": {
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "Stop": {
                  "fields": {
                    "reason": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "HeartbeatRequest": {
                  "fields": {
                    "tokens": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 1
                    },
                    "pids": {
                      "rule": "repeated",
                      "type": "int32",
                      "id": 2
                    }
                  }
                },
                "HeartbeatReply": {
                  "fields": {
                    "beats": {
                      "rule": "repeated",
                      "type": "Beat",
                      "id": 1
                    },
                    "lease_ms": {
                      "type": "int64",
                      "id": 2
                    }
                  }
                },
                "Beat": {
                  "fields": {
                    "stop": {
                      "type": "bool",
                      "id": 1
                    },
                    "reason": {
                      "type": "string",
                      "id": 2
                    },
                    "token": {
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "AppendLogRequest": {
                  "fields": {
                    "offset": {
                      "type": "int64",
                      "id": 1
                    },
                    "data": {
                      "type": "bytes",
                      "id": 2
                    }
                  }
                },
                "AppendLogReply": {
                  "fields": {
                    "length": {
                      "type": "int64",
                      "id": 1
                    }
                  }
                },
                "FinishRequest": {
                  "fields": {
                    "outcome_json": {
                      "type": "string",
                      "id": 1
                    },
                    "log_offset": {
                      "type": "int64",
                      "id": 2
                    },
                    "log_data": {
                      "type": "bytes",
                      "id": 3
                    },
                    "worker_token": {
                      "type": "string",
                      "id": 4
                    },
                    "log_goes_on": {
                      "type": "bool",
                      "id": 5
                    },
                    "drain_reason": {
                      "type": "string",
                      "id": 6
                    },
                    "known_secrets": {
                      "type": "string",
                      "id": 7
                    }
                  }
                },
                "FinishReply": {
                  "fields": {
                    "recorded": {
                      "type": "bool",
                      "id": 1
                    },
                    "log_length": {
                      "type": "int64",
                      "id": 2
                    },
                    "next": {
                      "type": "NextAttempt",
                      "id": 3
                    }
                  }
                },
                "NextAttempt": {
                  "fields": {
                    "assignment": {
                      "type": "Assignment",
                      "id": 1
                    },
                    "started": {
                      "type": "Started",
                      "id": 2
                    }
                  }
                },
                "CallRequest": {
                  "fields": {
                    "method": {
                      "type": "string",
                      "id": 1
                    },
                    "params_json": {
                      "type": "string",
                      "id": 2
                    },
                    "request_id": {
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "CallReply": {
                  "fields": {
                    "value_json": {
                      "type": "string",
                      "id": 1
                    },
                    "masks": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "GetVersionRequest": {
                  "fields": {}
                },
                "Version": {
                  "fields": {
                    "version_key": {
                      "type": "string",
                      "id": 1
                    },
                    "dag_id": {
                      "type": "string",
                      "id": 2
                    },
                    "python_dag_id": {
                      "type": "string",
                      "id": 3
                    },
                    "dags_folder": {
                      "type": "string",
                      "id": 4
                    },
                    "source_path": {
                      "type": "string",
                      "id": 5
                    },
                    "source_module": {
                      "type": "string",
                      "id": 6
                    },
                    "source_text": {
                      "type": "string",
                      "id": 7
                    },
                    "modules": {
                      "rule": "repeated",
                      "type": "Module",
                      "id": 8
                    },
                    "dependencies": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 9
                    },
                    "env": {
                      "keyType": "string",
                      "type": "string",
                      "id": 10
                    },
                    "version_number": {
                      "type": "int32",
                      "id": 11
                    },
                    "bundle": {
                      "type": "Bundle",
                      "id": 12
                    },
                    "files": {
                      "keyType": "string",
                      "type": "string",
                      "id": 13
                    }
                  }
                },
                "Bundle": {
                  "fields": {
                    "dags": {
                      "type": "string",
                      "id": 1
                    },
                    "import_roots": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 2
                    },
                    "plugins": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "Module": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    },
                    "path": {
                      "type": "string",
                      "id": 2
                    },
                    "sha256": {
                      "type": "string",
                      "id": 3
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
} as unknown as INamespace;
