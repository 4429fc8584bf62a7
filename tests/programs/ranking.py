# Ranking: the accuracy of the best k, a confusion matrix, the area under a curve, quantiles and correlations.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

n, classes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000, 10
i = np.arange(n)
scores = np.sin(np.outer(i + 1, np.arange(1, classes + 1)) * 0.9).astype(np.float32)
labels = (i * 7 + i // 3) % classes
best = np.argsort(-scores, 1, kind="stable")[:, :3]
print((best == labels[:, None]).any(1).mean())
confusion = np.zeros((classes, classes), np.int64)
np.add.at(confusion, (labels, best[:, 0]), 1)
print(confusion[:3], np.trace(confusion))
positive = labels == 3
order = np.argsort(-scores[:, 3], kind="stable")
tpr, fpr = np.cumsum(positive[order]) / positive.sum(), np.cumsum(~positive[order]) / (~positive).sum()
print((np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2).sum())
print(np.quantile(scores[:, 3], [0.05, 0.5, 0.95]), np.corrcoef(scores.T)[0, :4])
