"""make_model.py TOKENIZER DIR: a small GPT-2 without weights, with a stored tokenizer beside its configuration."""
import json
import pathlib
import sys

stored, folder = map(pathlib.Path, sys.argv[1:])
tokenizer = json.loads(stored.read_text(encoding="utf-8"))["tokenizer"]
config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 432, "n_positions": 64,
          "n_embd": 32, "n_layer": 1, "n_head": 2, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05,
          "initializer_range": 0.02, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
          "tie_word_embeddings": True, "eos_token_id": 0}
folder.mkdir(parents=True, exist_ok=True)
(folder / "config.json").write_text(json.dumps(config))
(folder / "tokenizer.json").write_text(json.dumps(tokenizer))
